import assert from "node:assert/strict";
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";

/*
 * Fields of answers and requests know how their value is carried in the messages of the services: by the member that has the name of the field
 * in camel case, or by the one that `at` names. What a field knows is hidden in its schema, as TypeBox does it, so that no validator sees it.
 */
export const SHOW = "~show";
export const SEND = "~send";
const MEMBER = "~member";
/** The whole message, instead of a member of it. */
const WHOLE = "";

type Show<Source, Json> = (source: Source) => Json;
type Send<Value> = (holder: object, name: string) => Value;

/** A field of an answer, made of `Source`. */
export type Shown<Json, Source> = TUnsafe<Json> & { readonly [SHOW]: Show<Source, Json> };
/** A field of a request, from which a message gets `Value`. */
export type Sent<Json, Value> = TUnsafe<Json> & { readonly [SEND]: Send<Value> };
type Named<Member extends string> = { readonly [MEMBER]: Member };
/** Its message has it always, although the request need not. */
type Always = { readonly "~always": true };
type Hidden = TSchema & {
  readonly [SHOW]?: Show<unknown, unknown>;
  readonly [SEND]?: Send<unknown>;
  readonly [MEMBER]?: string;
};

export function shown<Json, Source>(schema: TSchema, show: Show<Source, Json>): Shown<Json, Source> {
  return withHidden(schema, SHOW, show) as Shown<Json, Source>;
}

/** `send` is also called when the request has no such field. */
export function sent<Json, Value>(schema: TSchema, send: Send<Value>): Sent<Json, Value> {
  return withHidden(schema, SEND, send) as Sent<Json, Value>;
}

/** A field of a request that is in no message as such: another field, or the route, reads it. */
export function apart<Json>(field: Sent<Json, unknown>): TUnsafe<Json> {
  return withHidden(field, SEND, undefined) as TUnsafe<Json>;
}

/** A copy of the field that is carried by this member. */
export function at<const Member extends string, Field extends TSchema>(member: Member, field: Field) {
  return withHidden(field, MEMBER, member) as Field & Named<Member>;
}

/** A field of an answer that is made of the whole message. */
export function ofWhole<Json, Source extends object>(field: TUnsafe<Json>, show: Show<Source, Json>) {
  return at(WHOLE, shown<Json, Source>(field, show));
}

/** A field that has the same value in every answer. */
export function always<Json>(field: TUnsafe<Json>, value: Json) {
  return ofWhole<Json, object>(field, () => value);
}

/** A field that a request or an answer may lack. */
export const optional = Type.Optional;

/** An optional field of a request; without it the message gets `fallback`. */
export function or<Json, Value, const Fallback>(field: Sent<Json, Value>, fallback: Fallback) {
  const send: Send<Value | Fallback> = (holder, name) =>
    Object.hasOwn(holder, name) ? field[SEND](holder, name) : fallback;
  return Type.Optional(sent<Json, Value | Fallback>(field, send)) as TOptional<Sent<Json, Value | Fallback>> & Always;
}

/** A copy: a field may be used several times, each in its own way. */
function withHidden(schema: TSchema, name: string, value: unknown): TSchema {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema));
  return Object.defineProperty(copy, name, { value, configurable: true, enumerable: false });
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type MemberOf<Name, Field> = Field extends Named<infer Member> ? Member : Camel<Name>;
type SourceOf<Field> = Field extends { readonly [SHOW]: Show<infer Source, unknown> } ? Source : never;
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (one: infer All) => void
  ? All
  : never;
type OwnMember<Name, Field> = MemberOf<Name, Field> extends typeof WHOLE ? never : MemberOf<Name, Field>;
type Required<Name, Field> = undefined extends SourceOf<Field> ? never : OwnMember<Name, Field>;
type Optional<Name, Field> = undefined extends SourceOf<Field> ? OwnMember<Name, Field> : never;

/** The message that an answer with these members is made of. */
export type MessageOf<Members> = {
  readonly [Name in keyof Members as Required<Name, Members[Name]>]: SourceOf<Members[Name]>;
} & {
  readonly [Name in keyof Members as Optional<Name, Members[Name]>]?: SourceOf<Members[Name]>;
} & Intersection<
    {
      [Name in keyof Members]: MemberOf<Name, Members[Name]> extends typeof WHOLE ? SourceOf<Members[Name]> : object;
    }[keyof Members]
  >;

/** Makes the value of each member. */
function showing(members: TProperties): (message: object) => Record<string, unknown> {
  const entries = Object.entries(members as Record<string, Hidden>).map(([name, field]) => {
    const member = field[MEMBER] ?? camel(name);
    const show = field[SHOW];
    return [name, (message: object) => show?.(member === WHOLE ? message : message[member as never])] as const;
  });
  return (message) => Object.fromEntries(entries.map(([name, show]) => [name, show(message)]));
}

/** An object of an answer. `of` makes it of the message. */
export type Model<Members extends TProperties> = TObject<Members> &
  Shown<Static<TObject<Members>>, MessageOf<Members> | undefined> & {
    readonly of: (message: MessageOf<Members>) => Static<TObject<Members>>;
  };

export function modelOf<const Members extends TProperties>(schema: TObject<Members>, name: string): Model<Members> {
  const of = showing(schema.properties);
  const field = shown(schema, (message: object | undefined) => {
    assert(message !== undefined, `${name} is missing in the answer of a service`);
    return of(message);
  });
  return Object.defineProperty(field, "of", { value: of, enumerable: false }) as unknown as Model<Members>;
}

type Within<Member extends string, Members extends TProperties> = {
  [Name in keyof Members]: TUnsafe<Static<Members[Name]>> &
    Named<Member> &
    Shown<Static<Members[Name]>, MessageOf<Members> | undefined>;
};

/** The members of an answer that are made of one member of the message, which is a message itself. */
export function within<const Member extends string, const Members extends TProperties>(
  member: Member,
  members: Members,
): Within<Member, Members> {
  return withinOr(member, members, () => assert.fail(`${member} is missing in the answer of a service`));
}

/** As within, of a message that may be absent: then each of the members is null. */
export function withinOrNull<const Member extends string, const Members extends TProperties>(
  member: Member,
  members: Members,
): Within<Member, Members> {
  return withinOr(member, members, () => null);
}

function withinOr(member: string, members: TProperties, absent: () => unknown): never {
  const fields = Object.entries(members).map(([name, field]) => {
    const show = showing({ [name]: field });
    const showMember = (message: object | undefined) => (message === undefined ? absent() : show(message)[name]);
    return [name, at(member, shown(field, showMember))];
  });
  return Object.fromEntries(fields) as never;
}

type ValueOf<Field> = Field extends { readonly [SEND]: Send<infer Value> }
  ? Field extends Always
    ? Value
    : Field extends { readonly "~optional": true }
      ? Value | undefined
      : Value
  : never;

/** The message that a request with these fields becomes. */
export type RequestOf<Fields> = {
  readonly [
    Name in keyof Fields as ValueOf<Fields[Name]> extends never ? never : MemberOf<Name, Fields[Name]>
  ]: ValueOf<Fields[Name]>;
};

/** The members of the message that the fields of a request become. */
export function messageOf<Fields extends TProperties>(fields: Fields, holder: object): RequestOf<Fields> {
  const members = Object.entries(fields as Record<string, Hidden>).flatMap(([name, field]) => {
    const send = field[SEND];
    return send === undefined ? [] : [[field[MEMBER] ?? camel(name), send(holder, name)]];
  });
  return Object.fromEntries(members) as RequestOf<Fields>;
}

/** An object of a request, which is a message itself. */
export function nested<Fields extends TProperties>(fields: Fields, about: { readonly description: string }) {
  return sent<Static<TObject<Fields>>, RequestOf<Fields>>(Type.Object(fields, about), (holder, name) =>
    messageOf(fields, holder[name as never]),
  );
}

function camel(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
