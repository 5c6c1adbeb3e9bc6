import { AnswerReader, type Exchanged, type HttpAnswer, type LossReason } from "./http-answer.ts";
import type { Wire } from "./socket.ts";

/** HTTP over one socket: one request at a time, each written once and never repeated. */
export type Connection = {
  readonly exchange: (request: Buffer, options: ExchangeOptions) => Promise<Exchanged>;
  readonly isOpen: () => boolean;
  /** Resets the socket; a request that waits for its answer ends as lost. */
  readonly reset: () => void;
};

export type ExchangeOptions = {
  readonly timeoutMs: number;
  /** Called once, right before the bytes are handed to the socket; false = nothing is written. */
  readonly mayWrite?: () => boolean;
  /** Called when every byte was handed to the operating system: the server may read them even if this process ends. */
  readonly onWritten?: () => void;
};

type Waiting = {
  readonly reader: AnswerReader;
  readonly settle: (exchanged: Exchanged) => void;
  readonly timer: NodeJS.Timeout;
};

/** `onEnd` is called once, when the socket has ended for any reason. */
export function createConnection(wire: Wire, onEnd: () => void): Connection {
  let waiting: Waiting | undefined;
  let isOpen = true;

  const end = (reason: LossReason) => {
    if (!isOpen) return;
    isOpen = false;
    wire.reset();
    settle({ kind: "lost", reason });
    onEnd();
  };
  const settle = (exchanged: Exchanged) => {
    const current = waiting;
    waiting = undefined;
    clearTimeout(current?.timer);
    current?.settle(exchanged);
  };
  const accept = (answer: HttpAnswer) => {
    settle({ kind: "answered", answer });
    if (!answer.keepsAlive) end("connection_lost");
  };

  wire.tls.on("data", (bytes: Buffer) => {
    // Without a request these bytes are a violation: they would be read as the answer to the next request.
    const reading = waiting?.reader.push(bytes) ?? { kind: "violation" };
    if (reading.kind === "done") accept(reading.answer);
    if (reading.kind === "violation") end("protocol_violation");
  });
  wire.tls.on("end", () => {
    const reading = waiting?.reader.end();
    if (reading?.kind === "done") accept(reading.answer);
    else end("connection_lost");
  });
  for (const event of ["close", "error"]) wire.tls.on(event, () => end("connection_lost"));
  if (wire.tls.destroyed || wire.tls.readableEnded) end("connection_lost");

  return {
    exchange(request, { timeoutMs, mayWrite, onWritten }) {
      if (waiting !== undefined) throw new Error("a session carries one request at a time");
      if (!isOpen || !wire.tls.writable) return Promise.resolve({ kind: "not_sent", reason: "closed" });
      if (mayWrite?.() === false) return Promise.resolve({ kind: "not_sent", reason: "not_permitted" });
      const { promise, resolve } = Promise.withResolvers<Exchanged>();
      waiting = { reader: new AnswerReader(), settle: resolve, timer: setTimeout(end, timeoutMs, "timeout") };
      // From this line on the bytes may reach the server.
      wire.tls.write(request, (error) => {
        if (error === undefined || error === null) onWritten?.();
      });
      return promise;
    },
    isOpen: () => isOpen,
    reset: () => end("connection_lost"),
  };
}
