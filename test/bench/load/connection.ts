import { connect, type Socket } from "node:net";

export type Response = {
  readonly status: number;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
};

const END_OF_HEAD = "\r\n\r\n";
/** Longer than the longest request of the service, which takes 30 s. */
const ANSWER_TIMEOUT_MS = 40_000;

/**
 * An HTTP/1.1 connection that is kept alive and carries one request at a time. It reads no more of HTTP than the servers of
 * the bench write, because a generator that uses less of the processor disturbs less.
 */
export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #received = "";
  #answer: ((response: Response | undefined) => void) | undefined;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  /** Undefined when no answer arrived, whether or not the request did. */
  send(request: string): Promise<Response | undefined> {
    return new Promise((resolve) => {
      this.#received = "";
      this.#answer = resolve;
      this.#socket ??= this.#connect();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect(this.#port, this.#host);
    socket.setNoDelay(true);
    socket.setEncoding("utf8");
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
    socket.on("data", (chunk: string) => this.#read(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#end(undefined);
    });
    return socket;
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const head = this.#received.indexOf(END_OF_HEAD);
    if (head < 0) return;
    const length = headerOf(this.#received.slice(0, head), "content-length");
    if (length === undefined) throw new Error(`an answer without a length: ${this.#received}`);
    const body = this.#received.slice(head + END_OF_HEAD.length);
    if (Buffer.byteLength(body) < Number(length)) return;
    const seconds = headerOf(this.#received.slice(0, head), "retry-after");
    const retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1_000;
    this.#end({ status: Number(this.#received.slice(9, 12)), body, retryAfterMs });
  }

  #end(response: Response | undefined): void {
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.(response);
  }
}

/** A header with a number. */
function headerOf(head: string, name: "content-length" | "retry-after"): string | undefined {
  const pattern = name === "content-length" ? /\r\ncontent-length: *(\d+)/i : /\r\nretry-after: *(\d+)/i;
  return pattern.exec(head)?.[1];
}
