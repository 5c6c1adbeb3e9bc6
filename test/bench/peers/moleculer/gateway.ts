/** A peer of the bench: the HTTP process of Moleculer over NATS. Its server is Fastify, which is faster than moleculer-web. */
import Fastify from "fastify";
import { ServiceBroker } from "moleculer";
import { DEPOSIT_SCHEMA, type DepositQuery, httpAnswerOf, requestOf, type WorkAnswer } from "../work/answer.ts";
import { variable } from "../work/open.ts";

const broker = new ServiceBroker({
  nodeID: "gateway",
  transporter: { type: "NATS", options: { url: variable("NATS_URL") } },
  logLevel: "error",
});
await broker.start();
await broker.waitForServices("funding");
const app = Fastify();
app.get("/ready", () => ({ ready: true }));
app.post<{ Querystring: DepositQuery }>("/deposit", { schema: DEPOSIT_SCHEMA }, async (request, reply) => {
  const answer = await broker.call<WorkAnswer, object>("funding.deposit", requestOf(request.query));
  const { status, body } = httpAnswerOf(answer);
  return reply.status(status).send(body);
});
await app.listen({ host: "127.0.0.1", port: Number(variable("HTTP_PORT")) });
