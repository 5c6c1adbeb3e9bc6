/** A message constant of ts-proto. It carries its own full name, so publisher and consumer share no string. */
export type EventType<Message = unknown, Name extends string = string> = {
  readonly $type: Name;
  encode(message: Message): { finish(): Uint8Array };
  decode(input: Uint8Array): Message;
};

/** What the feeds write to the log; the log of the service fits. */
export type FeedLog = {
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
};
