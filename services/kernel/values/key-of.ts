/** The key of a value; undefined when it has none. */
export function keyOf<Key extends string, Value>(
  values: Readonly<Record<Key, Value>>,
  value: Value | undefined,
): Key | undefined {
  return (Object.keys(values) as Key[]).find((key) => values[key] === value);
}
