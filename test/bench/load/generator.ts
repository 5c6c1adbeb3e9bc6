/** The load generator: a process of its own with a low priority. It receives one job from its parent and reports. */
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection, type Response } from "./connection.ts";
import type { FromGenerator, Job, Load, Outcome, RequestTemplate, Shape } from "./job.ts";

/** Open load: requests that are due but find no free connection wait for one; a slow server needs no more than this. */
const MAX_CONNECTIONS = 256;
/** Open load: the timer is coarse, so a request may be sent this much before it is due. */
const TIMER_MS = 1;
/** Before the second try when the answer was lost. */
const RETRY_MS = 3_000;

process.once("message", (job: Job) => void run(job));

async function run(job: Job): Promise<void> {
  const outcomes: Outcome[] = [];
  const startedMs = performance.now();
  const window = { fromMs: job.warmUpMs, toMs: job.warmUpMs + job.measureMs };
  const used = measureOwnTime(job);
  const isOver = (): boolean => performance.now() - startedMs >= window.toMs;
  const next = nextRequest(job);
  const sendNext = async (connection: Connection, dueMs: number): Promise<void> => {
    const request = next.take();
    const first = await connection.send(request.text);
    const repeated = job.repeats && !isSuccess(first?.status) ? await repeat(connection, request, first) : undefined;
    const answer = {
      response: repeated === undefined ? first : repeated.response,
      first,
      isRepeated: repeated !== undefined,
    };
    outcomes.push(outcomeOf(request, answer, { startedMs, dueMs }));
  };
  switch (job.shape.kind) {
    case "closed":
      await callInTurns(job, job.shape.callers, sendNext, isOver);
      break;
    case "open":
      await callOnTime(job, { perSecond: job.shape.perSecond, startedMs }, sendNext, isOver);
      break;
    case "once":
      await callInTurns(job, Math.min(job.shape.callers, job.requests.length), sendNext, next.isOver);
  }
  report({ kind: "done", load: loadOf(outcomes, { ...window, kind: job.shape.kind }, await used) }, () =>
    process.disconnect(),
  );
}

/** As a client does: the key makes the second try safe, whatever happened to the first. */
async function repeat(
  connection: Connection,
  { text }: NextRequest,
  first: Response | undefined,
): Promise<{ readonly response: Response | undefined }> {
  await sleep(first?.retryAfterMs ?? RETRY_MS);
  return { response: await connection.send(text) };
}

function connectionOf({ endpoint: { host, ports } }: Job, index: number): Connection {
  return new Connection(host, ports[index % ports.length] ?? 0);
}

type SendNext = (connection: Connection, dueMs: number) => Promise<void>;

async function callInTurns(job: Job, callers: number, sendNext: SendNext, isOver: () => boolean): Promise<void> {
  const caller = async (_: unknown, index: number): Promise<void> => {
    const connection = connectionOf(job, index);
    do await sendNext(connection, performance.now());
    while (!isOver());
    connection.close();
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function callOnTime(
  job: Job,
  { perSecond, startedMs }: { readonly perSecond: number; readonly startedMs: number },
  sendNext: SendNext,
  isOver: () => boolean,
): Promise<void> {
  const due: number[] = [];
  const waiting: ((dueMs: number | undefined) => void)[] = [];
  let isComplete = false;
  const nextDue = async (): Promise<number | undefined> => {
    const dueMs = due.shift();
    if (dueMs !== undefined || isComplete) return dueMs;
    return await new Promise((resolve) => waiting.push(resolve));
  };
  const caller = async (_: unknown, index: number): Promise<void> => {
    const connection = connectionOf(job, index);
    for (let dueMs = await nextDue(); dueMs !== undefined; dueMs = await nextDue()) await sendNext(connection, dueMs);
    connection.close();
  };
  const callers = Array.from({ length: MAX_CONNECTIONS }, caller);
  for (let count = 0; !isOver(); count += 1) {
    const dueMs = startedMs + (count * 1_000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > TIMER_MS) await sleep(earlyMs - TIMER_MS);
    // The connection that was used last is warm.
    const free = waiting.pop();
    if (free === undefined) due.push(dueMs);
    else free(dueMs);
  }
  // Requests that are still due are sent too, because leaving them out would hide the longest latencies.
  isComplete = true;
  for (const free of waiting) free(undefined);
  await Promise.all(callers);
}

type NextRequest = { readonly template: RequestTemplate; readonly comment: string; readonly text: string };

type Requests = {
  readonly take: () => NextRequest;
  /** Each request was taken once. */
  readonly isOver: () => boolean;
};

function nextRequest({ requests, endpoint, comment: prefix, repeats }: Job): Requests {
  const headers = { host: endpoint.host, ...endpoint.headers };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  let sent = 0;
  const take = (): NextRequest => {
    const template = requests[sent % requests.length]!;
    const comment = `${prefix}${sent.toString(36)}`;
    sent += 1;
    const path = template.path.replace("{n}", comment);
    const length = template.method === "POST" ? "content-length: 0\r\n" : "";
    const key = repeats ? `idempotency-key: ${comment}\r\n` : "";
    return { template, comment, text: `${template.method} ${path} HTTP/1.1\r\n${head.join("")}${length}${key}\r\n` };
  };
  return { take, isOver: () => sent >= requests.length };
}

type Answer = {
  readonly response: Response | undefined;
  readonly first: Response | undefined;
  readonly isRepeated: boolean;
};

function outcomeOf(
  { template: { login, minor }, comment }: NextRequest,
  { response, first, isRepeated }: Answer,
  { startedMs, dueMs }: { readonly startedMs: number; readonly dueMs: number },
): Outcome {
  const nowMs = performance.now();
  const { status = 0, body = "" } = response ?? {};
  return {
    login,
    minor,
    comment,
    status,
    firstStatus: isRepeated ? (first?.status ?? 0) : undefined,
    dealId: /"(?:mt5_)?deal_id": ?(\d+)/.exec(body)?.[1] ?? "",
    isDenied: body.includes('"not_executed"'),
    dueAtMs: dueMs - startedMs,
    atMs: nowMs - startedMs,
    latencyMs: nowMs - dueMs,
  };
}

/** Processor seconds of this process between the warm-up and the end; reports both moments. */
async function measureOwnTime({ warmUpMs, measureMs }: Job): Promise<number> {
  await sleep(warmUpMs);
  report({ kind: "measuring" });
  const before = process.cpuUsage();
  await sleep(measureMs);
  report({ kind: "measured" });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}

function loadOf(
  outcomes: readonly Outcome[],
  { fromMs, toMs, kind }: { readonly fromMs: number; readonly toMs: number; readonly kind: Shape["kind"] },
  ownSeconds: number,
): Load {
  const instantOf = ({ atMs, dueAtMs }: Outcome): number => (kind === "closed" ? atMs : dueAtMs);
  const isMeasured = (each: Outcome): boolean => instantOf(each) >= fromMs && instantOf(each) < toMs;
  const measured = kind === "once" ? outcomes : outcomes.filter(isMeasured);
  const answered = measured.filter(({ status }) => isSuccess(status));
  const failures: Record<string, number> = {};
  for (const { status } of measured.filter((each) => !isSuccess(each.status))) {
    failures[status] = (failures[status] ?? 0) + 1;
  }
  return {
    outcomes,
    latencies: answered.map(({ latencyMs }) => latencyMs),
    answered: answered.length,
    failures,
    seconds: (toMs - fromMs) / 1_000,
    ownSeconds,
  };
}

function isSuccess(status = 0): boolean {
  return status >= 200 && status < 300;
}

function report(message: FromGenerator, sent?: () => void): void {
  process.send?.(message, () => sent?.());
}
