import fc from "fast-check";
import { expect, test } from "vitest";
import { generatePassword } from "./password.ts";

test("every password has sixteen characters of four classes, none of which the Web API escapes", () => {
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
