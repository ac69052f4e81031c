/** The library's way to the tables, through the port that storage keeps. */
import { type CleanedWhere, createAdapterFactory } from '@better-auth/core/db/adapter';
import type { AccountRows, Cell, Condition, Row } from '#core/accounts.ts';
import { hashSecret } from '#core/secrets.ts';
import { tableOf } from './tables.ts';

type Fields = Record<string, unknown>;

const sessions = tableOf.session;
/** What a provider gives for its own API is of no use here, and is not kept. */
const notKept = new Set([
  'accessToken',
  'refreshToken',
  'idToken',
  'accessTokenExpiresAt',
  'refreshTokenExpiresAt',
]);

/**
 * A session's token is stored as its SHA-256. The library goes on with the token it asked with: it finds a session by
 * nothing else, and what it lists carries the hash, which opens nothing.
 */
export function createAdapter(rows: AccountRows) {
  return createAdapterFactory({
    config: {
      adapterId: 'belfry',
      supportsBooleans: false,
      // Dates are milliseconds: turned below.
      supportsDates: true,
      supportsJSON: false,
      supportsNumericIds: false,
      customTransformInput: ({ data }) => (data instanceof Date ? data.getTime() : data),
      customTransformOutput: ({ data, fieldAttributes }) =>
        fieldAttributes.type === 'date' && typeof data === 'number' ? new Date(data) : data,
    },
    adapter: ({ getFieldName }) => {
      const first = <T>(found: readonly Row[], where: readonly CleanedWhere[]) =>
        (withToken(found[0], where) ?? null) as T | null;
      return {
        async create<T extends Fields>({ model, data }: { model: string; data: T }) {
          const made = await rows.insert(model, toRow(model, data));
          return { ...made, ...(model === sessions && { token_hash: data.token_hash }) } as unknown as T;
        },
        async findOne<T>({ model, where }: { model: string; where: CleanedWhere[] }) {
          return first<T>(await rows.select(model, conditions(model, where), { limit: 1 }), where);
        },
        async findMany<T>({ model, where = [], limit, offset, sortBy }: FindMany) {
          const found = await rows.select(model, conditions(model, where), {
            limit,
            ...(offset !== undefined && { offset }),
            ...(sortBy && {
              order: {
                column: getFieldName({ model, field: sortBy.field }),
                descending: sortBy.direction === 'desc',
              },
            }),
          });
          return found as T[];
        },
        async count({ model, where = [] }: { model: string; where?: CleanedWhere[] | undefined }) {
          return rows.count(model, conditions(model, where));
        },
        async update<T>({ model, where, update }: { model: string; where: CleanedWhere[]; update: T }) {
          const set = toRow(model, update as Fields);
          return first<T>(await rows.update(model, conditions(model, where), set), where);
        },
        async updateMany({ model, where, update }: { model: string; where: CleanedWhere[]; update: Fields }) {
          return (await rows.update(model, conditions(model, where), toRow(model, update))).length;
        },
        async delete({ model, where }: { model: string; where: CleanedWhere[] }) {
          await rows.remove(model, conditions(model, where));
        },
        async deleteMany({ model, where }: { model: string; where: CleanedWhere[] }) {
          return (await rows.remove(model, conditions(model, where))).length;
        },
        async consumeOne<T>({ model, where }: { model: string; where: CleanedWhere[] }) {
          return first<T>(await rows.remove(model, conditions(model, where), true), where);
        },
        async incrementOne<T>({ model, where, increment, set = {} }: Increment) {
          return first<T>(
            await rows.update(model, conditions(model, where), toRow(model, set), increment),
            where,
          );
        },
      };
    },
  });
}

interface FindMany {
  readonly model: string;
  readonly where?: CleanedWhere[] | undefined;
  readonly limit: number;
  readonly offset?: number | undefined;
  readonly sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined;
}

interface Increment {
  readonly model: string;
  readonly where: CleanedWhere[];
  readonly increment: Record<string, number>;
  readonly set?: Fields | undefined;
}

function toRow(model: string, data: Fields): Row {
  const kept = Object.entries(data).filter(([column]) => !notKept.has(column));
  return Object.fromEntries(
    kept.map(([column, value]) => [column, (isToken(model, column) ? hashed(value) : value) as Cell]),
  );
}

function conditions(model: string, where: readonly CleanedWhere[]): Condition[] {
  return where.map(({ field, operator, value, connector }) => {
    const cell = (isToken(model, field) ? hashed(value) : value) as Condition['value'];
    return { column: field, ...comparison(operator, cell), or: connector === 'OR' };
  });
}

const isToken = (model: string, column: string) => model === sessions && column === 'token_hash';

function hashed(value: unknown): Cell | Cell[] {
  return Array.isArray(value) ? value.map((each) => hashSecret(String(each))) : hashSecret(String(value));
}

/** The row with the token that it was looked for by, in the place of the hash. */
function withToken(row: Row | undefined, where: readonly CleanedWhere[]): Row | undefined {
  const asked = where.find(({ field, operator }) => field === 'token_hash' && operator === 'eq')?.value;
  return row && typeof asked === 'string' ? { ...row, token_hash: asked } : row;
}

const operators = {
  eq: '=',
  ne: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  in: 'in',
  not_in: 'not in',
} as const;

function comparison(
  operator: CleanedWhere['operator'] = 'eq',
  value: Condition['value'],
): Pick<Condition, 'operator' | 'value'> {
  if (operator in operators) return { operator: operators[operator as keyof typeof operators], value };
  // Searching for parts of a text is what the library's administration does, which is not used.
  throw new Error(`the accounts' tables are not searched by ${operator}`);
}
