/** The value of a form field, and how to change it. */
export interface Field<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A field of a form by its path, and what is wrong with it. */
export interface RefusedField {
  readonly path: string;
  readonly text: string;
}
