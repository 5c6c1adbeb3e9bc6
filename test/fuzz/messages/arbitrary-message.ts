import { create, type DescField, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";

/** Messages with valid and invalid values, as other encoders may write them. */

const INT64 = 2n ** 63n;
const INT32 = 2 ** 31;
/** Including the limits of the protobuf format and of JavaScript dates. */
const SECONDS = fc.oneof(
  fc.constantFrom(0n, -62_135_596_800n, 253_402_300_799n, 8_640_000_000_001n, INT64 - 1n),
  fc.bigInt(0n, 2_000_000_000n),
);

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }).map((any) => any.toWellFormed()),
  fc
    .constantFrom(
      "",
      "\u0000",
      "a\u0000b",
      "\ud83c",
      "\u202e",
      "'; drop table account; --",
      "__proto__",
      "%s",
      "🂡".repeat(200),
      "x".repeat(70_000),
    )
    .map((any) => any.toWellFormed()),
  fc.constantFrom(
    "0",
    "-1",
    "1e3",
    "999999999999999999",
    "9223372036854775808",
    "00",
    "PD0F7K3M9Q2X1A x",
    "../../etc",
    "\n",
  ),
);

/** Realistic values, so that some messages pass the first checks. */
const PLAUSIBLE: readonly (readonly [RegExp, fc.Arbitrary<string>])[] = [
  [/login/, fc.constantFrom("3000001", "3000002", "3000003")],
  [/^(key|lock_owner|suffix)$/, fc.constantFrom("fuzz:1", "fuzz:2", "fuzz:3")],
  [/currency/, fc.constant("USD")],
  [/group/, fc.constantFrom("pamm\\investor", "pamm\\master")],
  [/feed/, fc.constantFrom("platform.movements", "subscription.mirrors", "none")],
  [/username|email/, fc.constant("ann@example.com")],
  [/operation_id|command_id/, fc.constant("0199f3a2-7c1e-7000-8000-000000000001")],
  [/./, fc.constantFrom("Ann", "Alpha", "1")],
];

export function bytesOf(message: DescMessage): fc.Arbitrary<Buffer> {
  return messageOf(message, 0).map((made) => Buffer.from(toBinary(message, made)));
}

function messageOf(message: DescMessage, depth: number): fc.Arbitrary<Message> {
  const byOneof = new Map(message.oneofs.map((oneof) => [oneof.localName, oneof.fields]));
  const plain = message.fields.filter(({ oneof }) => oneof === undefined);
  const members = plain.map(
    (field) => [field.localName, fc.option(fieldOf(field, depth), { nil: undefined, freq: 6 })] as const,
  );
  const choices = Array.from(byOneof, ([name, fields]) => {
    const chosen = fields.map((field) => fieldOf(field, depth).map((value) => ({ case: field.localName, value })));
    return [name, fc.oneof(fc.constant(undefined), ...chosen)] as const;
  });
  const record: fc.Arbitrary<Record<string, unknown>> = fc.record(Object.fromEntries([...members, ...choices]));
  return record.map((values) =>
    create(message, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))),
  );
}

function fieldOf(field: DescField, depth: number): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "list":
      return fc.array(itemOf(field, depth), { maxLength: depth > 2 ? 0 : 3 });
    case "map":
      return fc.dictionary(fc.string({ maxLength: 4 }), itemOf(field, depth), { maxKeys: 2 });
    default:
      return itemOf(field, depth);
  }
}

function itemOf(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.message !== undefined) {
    return field.message.typeName === "google.protobuf.Timestamp"
      ? fc
          .record({ seconds: SECONDS, nanos: fc.constantFrom(0, 1, 999_999_999) })
          .map((own) => ({ $typeName: "google.protobuf.Timestamp", ...own }))
      : messageOf(field.message, depth + 1);
  }
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ number }) => number), 99, -1);
  return scalarOf(field);
}

/** 3 int64, 5 int32, 8 bool, 9 string, 12 bytes: the contracts use no other types. */
function scalarOf({ scalar, name }: DescField): fc.Arbitrary<unknown> {
  switch (Number(scalar)) {
    case 3:
      return fc.oneof(fc.bigInt(0n, 10_000n), fc.constantFrom(0n, -1n, 100_000_000_000n, INT64 - 1n, -INT64));
    case 5:
      return fc.oneof(fc.integer({ min: 0, max: 500 }), fc.constantFrom(0, -1, INT32 - 1, -INT32, 1_000_000));
    case 8:
      return fc.boolean();
    case 12:
      return fc.uint8Array({ maxLength: 20 });
    default: {
      const plausible = PLAUSIBLE.find(([pattern]) => pattern.test(name))?.[1] ?? text;
      return fc.oneof({ weight: 3, arbitrary: plausible }, { weight: 1, arbitrary: text });
    }
  }
}

/** Bytes with edits: dropped, inserted, truncated, or with a field that does not end. */
export function damagedBytes(whole: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const UNENDED = [
    Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    Buffer.alloc(12, 0xff),
    Buffer.from([0x0b, 0x0b, 0x0b, 0x0c]),
    Buffer.alloc(40, 0x0b),
  ];
  const edit = fc.record({
    at: fc.nat(1_000),
    drop: fc.nat(5),
    insert: fc.oneof(fc.uint8Array({ maxLength: 6 }), fc.constantFrom(...UNENDED)),
    isCut: fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0),
  });
  return fc.tuple(whole, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([bytes, edits]) =>
    edits.reduce((before, { at, drop, insert, isCut }) => {
      const offset = at % (before.length + 1);
      return Buffer.concat([before.subarray(0, offset), insert, ...(isCut ? [] : [before.subarray(offset + drop)])]);
    }, bytes),
  );
}
