import { create, type DescField, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";

/** With a value in every field, written by another encoder than the one under test. */
export function sampleBytes(message: DescMessage): Buffer {
  return Buffer.from(toBinary(message, sample(message)));
}

function sample(message: DescMessage): Message {
  return create(message, Object.fromEntries(message.fields.map((field) => [field.localName, sampleField(field)])));
}

function sampleField(field: DescField): unknown {
  switch (field.fieldKind) {
    case "list":
      return [sampleItem(field), sampleItem(field)];
    case "map":
      return { [`key ${field.number}`]: sampleItem(field) };
    default:
      return sampleItem(field);
  }
}

function sampleItem(field: DescField): unknown {
  if (field.message !== undefined) {
    return field.message.typeName === "google.protobuf.Timestamp" ? timestamp(field) : sample(field.message);
  }
  if (field.enum !== undefined) {
    return field.enum.values.at(-1)?.number;
  }
  return sampleScalar(field);
}

/** In 2026, with the milliseconds that a JavaScript date can hold. */
function timestamp(field: DescField): Message {
  return create(TimestampSchema, { seconds: 1_790_000_000n + BigInt(field.number), nanos: 123_000_000 });
}

/** 64-bit integers are larger than a JavaScript number can hold exactly. */
function sampleScalar(field: DescField): unknown {
  const text = `${field.name} ${field.number} Tëst`;
  const kinds: Record<number, unknown> = {
    3: -(2n ** 53n) - BigInt(field.number),
    5: -2_000_000_000 - field.number,
    8: true,
    9: text,
    12: new TextEncoder().encode(text),
  };
  const value = kinds[field.scalar ?? 0];
  if (value === undefined) {
    throw new Error(`${field.parent.typeName}.${field.name}: no sample for scalar type ${field.scalar}`);
  }
  return value;
}
