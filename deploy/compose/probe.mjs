// For health checks: `node deploy/compose/probe.mjs PORT PATH` exits with 0 when the answer there is 200. It runs every few
// seconds in every container, so it is plain JavaScript on a socket, which takes a quarter of the time of an HTTP client.
import { connect } from "node:net";
import process from "node:process";

const TIMEOUT_MS = 5_000;

const [, , port = "", path = ""] = process.argv;
const socket = connect({ host: "127.0.0.1", port: Number(port), timeout: TIMEOUT_MS });
socket.once("connect", () => socket.write(`GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`));
socket.once("data", (head) => process.exit(/^HTTP\/1\.\d 200 /.test(head.toString()) ? 0 : 1));
for (const failure of ["timeout", "error", "close"]) socket.once(failure, () => process.exit(1));
