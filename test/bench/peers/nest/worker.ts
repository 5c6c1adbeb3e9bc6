/** A peer of the bench: the process of NestJS over NATS that executes deposits. */
import "reflect-metadata";
import { Controller, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { MessagePattern, type MicroserviceOptions, Payload, Transport } from "@nestjs/microservices";
import { answerOf, type WorkAnswer } from "../work/answer.ts";
import { deposit, type DepositRequest } from "../work/deposit.ts";
import { openDeps, variable } from "../work/open.ts";

const deps = openDeps();

class FundingController {
  deposit(request: DepositRequest): Promise<WorkAnswer> {
    return answerOf(deposit(deps, request));
  }
}

const { prototype } = FundingController;
MessagePattern("deposit")(prototype, "deposit", Object.getOwnPropertyDescriptor(prototype, "deposit")!);
Payload()(prototype, "deposit", 0);
Controller()(FundingController);

class Worker {}
Module({ controllers: [FundingController] })(Worker);

const app = await NestFactory.createMicroservice<MicroserviceOptions>(Worker, {
  transport: Transport.NATS,
  options: { servers: [variable("NATS_URL")], queue: "funding" },
  logger: ["error"],
});
await app.listen();
