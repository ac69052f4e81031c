import { TagsInput, type TagsInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isTag } from './panel-values.ts';

/** Labels by which rules choose panels; anything may be typed, and is kept in the server's form. */
export function TagsField({
  value = [],
  onChange,
  known,
  ...props
}: Omit<TagsInputProps, 'onChange'> & {
  onChange: (tags: string[]) => void;
  /** Tags of other panels. */
  known: string[];
}) {
  const { t } = useTranslation('panels');
  const wrong = value.find((tag) => !isTag(tag));
  return (
    <TagsInput
      label={t('tags')}
      description={t('tagsHint')}
      placeholder={value.length === 0 ? t('tagsPlaceholder') : ''}
      data={known}
      maxTags={50}
      splitChars={[',', ' ']}
      acceptValueOnBlur
      openOnFocus={false}
      maxDropdownHeight={160}
      {...props}
      value={value}
      error={wrong !== undefined && t('tagWrong', { tag: wrong })}
      onChange={(tags) => onChange([...new Set(tags.map((tag) => tag.trim().toLowerCase()))])}
    />
  );
}
