import fc from "fast-check";
import { expect, test } from "vitest";
import { generatePassword } from "./password.ts";

test("every password has four classes, sixteen characters and nothing that the platform would escape", () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
      const password = generatePassword((bound) => (numbers.next().value ?? 0) % bound);

      expect(password).toMatch(/^[A-Za-z0-9!#@_.:-]{16}$/);
      for (const kind of [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/]) {
        expect(password).toMatch(kind);
      }
    }),
  );
});

test("two draws are two passwords", () => {
  const first = generatePassword(() => 0);
  const second = generatePassword((bound) => bound - 1);

  expect(first).not.toBe(second);
});
