import checkIcon from 'virtual:icon/check';
import selectorIcon from 'virtual:icon/selector';
import userIcon from 'virtual:icon/user-circle';
import { Menu } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { personApi, sentenceOf } from '../api/call.ts';
import { sessionQuery, usePerson } from '../api/session.ts';
import { chooseLanguage, type Language, languages } from '../language.ts';
import { Icon } from '../pieces/icon.tsx';
import { showFailure } from '../pieces/layers/toast.ts';
import { schemeChoices, setSchemeChoice, useSchemeChoice } from '../theme/scheme.ts';
import styles from './shell.module.css';

/** The person: account, appearance, language, the way out. */
export function AccountMenu({ onKeys }: { onKeys: () => void }) {
  const { t, i18n } = useTranslation();
  const person = usePerson();
  const { data } = useSuspenseQuery(sessionQuery);
  const navigate = useNavigate();
  const scheme = useSchemeChoice();
  const signOut = async () => {
    try {
      await personApi.delete('/api/session');
    } catch (error) {
      // Whoever walks away must know that the door is still open.
      showFailure({ title: t('failed'), message: sentenceOf(error) });
      return;
    }
    // Nothing that was known stays in the page's memory, and nobody who comes next is led to where this person was.
    location.replace('/sign-in');
  };
  const chosen = (is: boolean) => (is ? <Icon paths={checkIcon} size={14} /> : undefined);
  return (
    <Menu position="top-start" width={230}>
      <Menu.Target>
        <button type="button" className={styles.account}>
          <Icon paths={userIcon} size={20} />
          <span className={styles.who}>
            <span>{person.name}</span>
            <span>{person.email}</span>
          </span>
          <Icon paths={selectorIcon} size={16} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: '/account' })}>{t('yourAccount')}</Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('theme')}</Menu.Label>
        {schemeChoices.map((each) => (
          <Menu.Item
            key={each}
            closeMenuOnClick={false}
            rightSection={chosen(each === scheme)}
            onClick={() => setSchemeChoice(each)}
          >
            {t(`theme.${each}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('language')}</Menu.Label>
        {(Object.keys(languages) as Language[]).map((each) => (
          <Menu.Item
            key={each}
            lang={each}
            rightSection={chosen(i18n.language === each)}
            onClick={() => void chooseLanguage(each)}
          >
            {languages[each]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={onKeys}>{t('keysTitle')}</Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{t('signOut')}</Menu.Item>
        <Menu.Label>{t('version', { version: data.version })}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
