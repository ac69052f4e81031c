/** The shapes that most schemas of the contract are made of. */
import {
  type TObject,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Type,
} from 'typebox';

/** An object that takes no other fields. */
export const closed = <P extends TProperties>(properties: P, options: TObjectOptions = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** As {@link closed}, under a name: OpenAPI has it as a component, and generated clients have a type of that name. */
export const component = <P extends TProperties>(
  title: string,
  properties: P,
  options: TObjectOptions = {},
): TObject<P> => closed(properties, { title, ...options });

/** As {@link component}, with every field optional. */
export const patch = <P extends TProperties>(title: string, properties: P) =>
  Type.Partial(Type.Object(properties), { title, additionalProperties: false });

export const nullable = <S extends TSchema>(schema: S, options: TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);

/** A time in ISO 8601. */
export const Instant = Type.String({ format: 'date-time' });
export const NullableInstant = nullable(Instant);

/** Something else that an answer names. */
export const NamedRef = closed({ id: Type.String(), name: Type.String() });
/** Names that people give. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  errorMessage: 'must have 1 to 100 characters, not white space alone',
});
const bucket = closed({
  perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }),
  burst: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
});
export const RateLimit = Type.Union([bucket, Type.Literal('off'), Type.Null()], {
  errorMessage: 'must be {"perSecond": …, "burst": …}, "off" or null',
  description: "null: the server's own limit.",
});
