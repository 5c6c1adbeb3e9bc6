import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { DESCRIPTORS } from "#test/support/contracts.ts";
import { sampleBytes } from "./sample.ts";

type GeneratedMessage = {
  readonly $type: string;
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): unknown;
};

const GENERATED = new URL("../../../proto/gen/", import.meta.url);
const FIELD_OF_A_LATER_VERSION = Buffer.from([0xc2, 0xbb, 0x01, 0x03, 0x6e, 0x65, 0x77]); // field 3000, text "new"

const generated = await generatedMessages();
/** Of every message except map entries. */
const samples = [...DESCRIPTORS]
  .filter((item): item is DescMessage => item.kind === "message" && item.typeName.startsWith("pamm."))
  .map((message) => [message.typeName, sampleBytes(message)] as const);

test("every message of the contracts is generated", () => {
  expect(samples.length).toBeGreaterThan(90);
  expect(samples.map(([type]) => type).filter((type) => !generated.has(type))).toEqual([]);
});

test.each(samples)("%s with every field has the same bytes as from another encoder", (type, bytes) => {
  expect(roundTrip(type, bytes)).toBe(bytes.toString("hex"));
});

test.each(samples)("%s with a field of a later version is read without it", (type, bytes) => {
  expect(roundTrip(type, Buffer.concat([bytes, FIELD_OF_A_LATER_VERSION]))).toBe(bytes.toString("hex"));
});

function roundTrip(type: string, bytes: Buffer): string {
  const message = generated.get(type)!;
  return Buffer.from(message.encode(message.decode(bytes)).finish()).toString("hex");
}

async function generatedMessages(): Promise<ReadonlyMap<string, GeneratedMessage>> {
  const names = [...DESCRIPTORS.files].map(({ name }) => name).filter((name) => name.startsWith("pamm/"));
  const modules = await Promise.all(
    names.map(async (name) => (await import(new URL(`${name}.ts`, GENERATED).href)) as Record<string, unknown>),
  );
  const exported = modules.flatMap((module) => Object.values(module));
  return new Map(exported.filter(isMessage).map((message) => [message.$type, message]));
}

function isMessage(value: unknown): value is GeneratedMessage {
  return typeof value === "object" && value !== null && "$type" in value && "decode" in value;
}
