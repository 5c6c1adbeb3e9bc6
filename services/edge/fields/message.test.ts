import { expect, test } from "vitest";
import { choice, model, named, nullableString, string } from "./field.ts";
import { within, withinOrNull } from "./message.ts";

const about = { description: "", example: "" };

test("a nested message is missing, or its members are null; a code without a name is no value", () => {
  const wrapped = model("Wrapped", "", within("part", { short_name: string(about), note: nullableString(about) }));
  const optional = model("Optional", "", withinOrNull("part", { short_name: string(about) }));
  const state = model("State", "", { state: named(choice({ open: "" }, about), { 1: "open" }) });

  expect(wrapped.of({ part: { shortName: "p", note: "" } })).toEqual({ short_name: "p", note: null });
  expect(() => wrapped.of({})).toThrow("part is missing in the answer of a service");
  expect(optional.of({})).toEqual({ short_name: null });
  expect(state.of({ state: 1 })).toEqual({ state: "open" });
  expect(() => state.of({ state: 2 as 1 })).toThrow("the code 2 has no name");
});
