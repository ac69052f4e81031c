import { TagsInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isTag } from './panel-draft.ts';

const most = 50;

/** Labels by which rules choose panels; typed as people type, kept as the server wants them. */
export function TagsField({
  value,
  onChange,
  known,
}: {
  value: readonly string[];
  onChange: (tags: string[]) => void;
  /** Tags that other panels have. */
  known: readonly string[];
}) {
  const { t } = useTranslation('panels');
  const bad = value.find((tag) => !isTag(tag));
  return (
    <TagsInput
      label={t('tags')}
      description={t('tagsHint')}
      placeholder={value.length === 0 ? t('tagsPlaceholder') : undefined}
      value={[...value]}
      data={[...known]}
      maxTags={most}
      splitChars={[',', ' ']}
      acceptValueOnBlur
      openOnFocus={false}
      maxDropdownHeight={160}
      error={bad === undefined ? undefined : t('tagWrong', { tag: bad })}
      onChange={(tags) => onChange([...new Set(tags.map((tag) => tag.trim().toLowerCase()))])}
    />
  );
}
