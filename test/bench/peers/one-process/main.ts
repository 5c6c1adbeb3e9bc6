/** A peer of the bench: Fastify and pg in one process, the same durable work without services in between. */
import Fastify from "fastify";
import { answerOf, DEPOSIT_SCHEMA, type DepositQuery, httpAnswerOf, requestOf } from "../work/answer.ts";
import { deposit } from "../work/deposit.ts";
import { openDeps, variable } from "../work/open.ts";

const deps = openDeps();
const app = Fastify();
app.get("/ready", () => ({ ready: true }));
app.post<{ Querystring: DepositQuery }>("/deposit", { schema: DEPOSIT_SCHEMA }, async (request, reply) => {
  const { status, body } = httpAnswerOf(await answerOf(deposit(deps, requestOf(request.query))));
  return reply.status(status).send(body);
});
await app.listen({ host: "127.0.0.1", port: Number(variable("HTTP_PORT")) });
