/** What a field of a form is given. */
export interface Field<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}
