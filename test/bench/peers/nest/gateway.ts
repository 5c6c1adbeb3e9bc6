/**
 * A peer of the bench: the HTTP process of NestJS over NATS. Node runs TypeScript without decorators, so they are applied
 * as the functions that they are.
 */
import "reflect-metadata";
import { Controller, Get, HttpCode, Inject, Module, Post, Query, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { type ClientProxy, ClientsModule, Transport } from "@nestjs/microservices";
import { FastifyAdapter, type NestFastifyApplication } from "@nestjs/platform-fastify";
import type { FastifyReply } from "fastify";
import { firstValueFrom } from "rxjs";
import { type DepositQuery, httpAnswerOf, requestOf, type WorkAnswer } from "../work/answer.ts";
import { variable } from "../work/open.ts";

const WORKER = "WORKER";

class DepositController {
  readonly #worker: ClientProxy;

  constructor(worker: ClientProxy) {
    this.#worker = worker;
  }

  ready(): object {
    return { ready: true };
  }

  async deposit(query: DepositQuery, reply: FastifyReply): Promise<object> {
    const answer = await firstValueFrom(this.#worker.send<WorkAnswer>("deposit", requestOf(query)));
    const { status, body } = httpAnswerOf(answer);
    reply.status(status);
    return body;
  }
}

const { prototype } = DepositController;
Inject(WORKER)(DepositController, undefined, 0);
Get("ready")(prototype, "ready", descriptorOf("ready"));
Post("deposit")(prototype, "deposit", descriptorOf("deposit"));
HttpCode(200)(prototype, "deposit", descriptorOf("deposit"));
Query()(prototype, "deposit", 0);
Res({ passthrough: true })(prototype, "deposit", 1);
Controller()(DepositController);

class Gateway {}
Module({
  imports: [
    ClientsModule.register([{ name: WORKER, transport: Transport.NATS, options: { servers: [variable("NATS_URL")] } }]),
  ],
  controllers: [DepositController],
})(Gateway);

const app = await NestFactory.create<NestFastifyApplication>(Gateway, new FastifyAdapter(), { logger: ["error"] });
await app.listen(Number(variable("HTTP_PORT")), "127.0.0.1");

function descriptorOf(name: "ready" | "deposit"): PropertyDescriptor {
  return Object.getOwnPropertyDescriptor(prototype, name)!;
}
