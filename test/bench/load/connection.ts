import { connect, type Socket } from "node:net";

export type Response = {
  readonly status: number;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
};

const END_OF_HEAD = "\r\n\r\n";
const END_OF_CHUNKS = "0\r\n\r\n";
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
    const end = this.#received.indexOf(END_OF_HEAD);
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const body = this.#received.slice(end + END_OF_HEAD.length);
    if (!isComplete(head, body)) return;
    const seconds = /\r\nretry-after: *(\d+)/i.exec(head)?.[1];
    const retryAfterMs = seconds === undefined ? undefined : Number(seconds) * 1_000;
    this.#end({ status: Number(head.slice(9, 12)), body, retryAfterMs });
  }

  #end(response: Response | undefined): void {
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.(response);
  }
}

/** A body in chunks stays as it was sent: its content is not read. */
function isComplete(head: string, body: string): boolean {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? body.endsWith(END_OF_CHUNKS) : Buffer.byteLength(body) >= Number(length);
}
