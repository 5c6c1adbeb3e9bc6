import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clientOf, dealsOf } from "./support/client.ts";
import { newInvestor } from "./support/client-requests.ts";
import { changeTables } from "./support/intruder.ts";
import { sharedSystem, START_TIMEOUT_MS } from "./support/shared-system.ts";

test(
  "what a client requested under an Idempotency-Key that only the database of the edge has lost is not executed again",
  async () => {
    const system = await sharedSystem();
    const client = clientOf(system);
    const login = await newInvestor(client);
    const send = (key: string, movement: string) =>
      client.send(`/api/v1/investor/${movement}&comment=bank`, { method: "POST", headers: { "idempotency-key": key } });
    const idOf = (answer: Awaited<ReturnType<typeof send>>) => answer.headers.get("x-operation-id");
    // As after a restore of its own database to the time before; other tests use the system too.
    const loseKey = (key: string) => changeTables(system, "edge", `delete from idempotency_key where key = '${key}'`);
    const requests = [
      [randomUUID(), `deposit?login=${login}&amount=10.00`],
      [randomUUID(), `withdraw?login=${login}&amount=4.00`],
    ] as const;

    for (const [key, movement] of requests) {
      const first = await send(key, movement);
      expect(first.status).toBe(200);
      await loseKey(key);
      expect(await send(key, movement.replace("amount=", "amount=1"))).toMatchObject({
        status: 422,
        body: { code: "idempotency_key_reused", outcome: "unknown", operation_id: idOf(first) },
      });

      const again = await send(key, movement);

      expect([again.status, again.headers.get("idempotency-replayed"), idOf(again)]).toEqual([
        200,
        "true",
        idOf(first),
      ]);
      expect(again.body).toEqual(first.body);
      expect(idOf(await send(key, movement))).toBe(idOf(first));
    }

    expect(await dealsOf(client, login)).toHaveLength(requests.length);
  },
  START_TIMEOUT_MS,
);
