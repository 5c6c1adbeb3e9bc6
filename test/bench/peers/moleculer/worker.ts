/** A peer of the bench: the service of Moleculer over NATS that executes deposits. */
import { type Context, ServiceBroker } from "moleculer";
import { answerOf } from "../work/answer.ts";
import { deposit, type DepositRequest } from "../work/deposit.ts";
import { openDeps, variable } from "../work/open.ts";

const deps = openDeps();
const broker = new ServiceBroker({
  nodeID: "worker",
  transporter: { type: "NATS", options: { url: variable("NATS_URL") } },
  logLevel: "error",
});
broker.createService({
  name: "funding",
  actions: { deposit: ({ params }: Context<DepositRequest>) => answerOf(deposit(deps, params)) },
});
await broker.start();
