import { expect, test } from "vitest";
import { changed, labelErrors, labelsText } from "./labels.ts";

const LABELS = { externalId: "CRM-1", metadata: { a: "1", b: "2" } };
const SAME = { externalId: undefined, setMetadata: {}, removedMetadata: [] };

test.each([
  ["nothing", SAME, LABELS],
  ["another id", { ...SAME, externalId: "CRM-2" }, { ...LABELS, externalId: "CRM-2" }],
  ["no id", { ...SAME, externalId: "" }, { ...LABELS, externalId: undefined }],
  [
    "members",
    { ...SAME, setMetadata: { b: "3", c: "" }, removedMetadata: ["a", "x"] },
    { ...LABELS, metadata: { b: "3", c: "" } },
  ],
])("a change of %s keeps the rest", (_what, change, expected) => {
  expect(changed(LABELS, change)).toEqual(expected);
  expect(changed(undefined, { ...SAME, setMetadata: { c: "" } })).toEqual({ metadata: { c: "" } });
});

test("labels survive their column, and none are null", () => {
  expect(JSON.parse(labelsText(LABELS) ?? "")).toEqual(LABELS);
  expect([labelsText(undefined), labelsText({ externalId: undefined, metadata: {} })]).toEqual([undefined, undefined]);
});

test("every mistake of labels is reported", () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, ""]));
  const metadata = { ...many, "a b": "", [`k${"x".repeat(40)}`]: "", long: "x".repeat(501), control: "\n" };
  const found = labelErrors({ externalId: " ", metadata: { ...metadata, ["__proto__"]: "" } });

  expect(found.map(({ field, code }) => `${field} ${code}`)).toEqual([
    "external_id empty",
    "metadata too_many",
    "metadata.a b malformed",
    `metadata.k${"x".repeat(39)} malformed`,
    "metadata.long too_long",
    "metadata.control control_character",
    "metadata.__proto__ malformed",
  ]);
  expect(labelErrors({ externalId: "😀".repeat(255), metadata: { "A-1_b.c": "😀".repeat(500) } })).toEqual([]);
  expect(labelErrors({ externalId: "x".repeat(256), metadata: {} })).toMatchObject([{ code: "too_long" }]);
});
