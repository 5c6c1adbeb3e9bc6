/** A message constant of the generated code, used as the type of an event: it names itself, so no string is shared. */
export type EventType<T, Name extends string = string> = {
  readonly $type: Name;
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
};
