import { INVARIANTS } from "../checks/violation.ts";
import { makePlan } from "../plan/make-plan.ts";
import type { Mode, Plan } from "../plan/plan.ts";
import { shrink } from "../plan/shrink.ts";
import { simulate } from "../simulate.ts";

/** The events of a history; a failing history is first reduced to the elements that it needs to fail. */
export async function describeSeed(seed: number, mode: Mode): Promise<string> {
  const plan = makePlan(seed, mode);
  const { violation, lines: all, traceHash } = await simulate(plan, { isRecorded: true });
  if (violation === undefined) return [...describe(plan), "", ...all, "", `trace ${traceHash}`].join("\n");
  const { invariant } = violation;
  const smallest = await shrink(
    plan,
    async (candidate) => (await simulate(candidate)).violation?.invariant === invariant,
  );
  const { lines, violation: last } = await simulate(smallest, { isRecorded: true });
  return [
    `seed ${seed} (${mode}) breaks ${invariant}: ${INVARIANTS[invariant]}`,
    last?.message ?? "",
    "",
    ...describe(smallest),
    "",
    ...lines,
  ].join("\n");
}

function describe({ quietPeriodMs, processes, commands, faults }: Plan): readonly string[] {
  const skews = processes.map(({ skewMs }) => `${skewMs} ms`).join(", ");
  return [
    `quiet period ${quietPeriodMs} ms, clocks of the processes off by ${skews}`,
    ...commands.map((command) => `command ${text(command)}`),
    ...faults.map((fault) => `fault   ${text(fault)}`),
  ];
}

function text(value: object): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? Number(part) : part));
}
