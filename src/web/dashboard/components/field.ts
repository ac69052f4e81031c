/** The value of a form field, and how to change it. */
export interface Field<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}
