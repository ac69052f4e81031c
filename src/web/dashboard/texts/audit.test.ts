import { expect, test } from 'vitest';
import { ChannelPatch } from '#contract/channels/channel.ts';
import { channelFields, channelKinds } from '#contract/channels/channel-fields.ts';
import { SavedSearchPut } from '#contract/history/search.ts';
import { MappingPut } from '#contract/integrations/integration.ts';
import { DisplaySettings, PanelPatch } from '#contract/panels/panel.ts';
import { TenantPatch } from '#contract/people/account.ts';
import { auditActions, auditFacts } from '#contract/people/audit.ts';
import { KeyCreate, roles, scopes, TokenCreate } from '#contract/people/token.ts';
import { LevelPut } from '#contract/routing/level.ts';
import { levelSounds } from '#contract/routing/level-styles.ts';
import { RuleCreate } from '#contract/routing/rule.ts';
import * as de from './de.ts';
import * as en from './en.ts';

/** Texts of one language, from which the audit log takes its words. */
const languages: [string, Record<'audit' | 'channels' | 'shell', Readonly<Record<string, string>>>][] = [
  ['en', en],
  ['de', de],
];
const withoutWords = (keys: readonly string[], pages: readonly ('audit' | 'channels' | 'shell')[]) =>
  languages.flatMap(([language, texts]) =>
    keys
      .filter(
        (key) =>
          !pages.some((page) => texts[page][page === 'audit' ? key : key.replace(/^changed/, 'field')]),
      )
      .map((key) => `${language}: ${key}`),
  );

test('every action has words', () => {
  const keys = auditActions.flatMap((action) =>
    action.endsWith('.put') ? [action, action.replace(/put$/, 'create')] : action,
  );
  expect(
    withoutWords(
      keys.map((key) => `done.${key}`),
      ['audit'],
    ),
  ).toEqual([]);
  const kinds = new Set(auditActions.map((action) => action.split('.')[0]));
  expect(
    withoutWords(
      [...kinds].map((kind) => `kind.${kind}`),
      ['audit'],
    ),
  ).toEqual([]);
});

test('every field has words', () => {
  const schemas = [
    ...[ChannelPatch, DisplaySettings, KeyCreate, LevelPut, MappingPut, PanelPatch, RuleCreate],
    ...[SavedSearchPut, TenantPatch, TokenCreate, MappingPut.properties.fields],
  ];
  const fields = new Set([
    ...schemas.flatMap(({ properties }) => Object.keys(properties)),
    ...Object.values(channelFields).flatMap((each) => each.map(({ name }) => name)),
    ...['kind', 'panelId', 'order'],
    ...auditFacts.filter((fact) => !['device', 'invitation', 'panel'].includes(fact)),
  ]);
  expect(
    withoutWords(
      [...fields].map((field) => `changed.${field}`),
      ['audit', 'channels', 'shell'],
    ),
  ).toEqual([]);
});

test('every value of a list of choices has a word', () => {
  const choices = {
    with: ['password', 'totp', 'backup', 'passkey'],
    scopes,
    sound: levelSounds,
    scheme: ['dark', 'light', 'auto'],
  };
  const keys = Object.entries(choices).flatMap(([field, values]) =>
    values.map((value) => `value.${field}.${value}`),
  );
  expect(withoutWords(keys, ['audit'])).toEqual([]);
  expect(
    withoutWords(
      roles.map((role) => `role.${role}`),
      ['shell'],
    ),
  ).toEqual([]);
  expect(
    withoutWords(
      channelKinds.map((kind) => `kind.${kind}`),
      ['channels'],
    ),
  ).toEqual([]);
});
