// For health checks: `node deploy/compose/probe.mjs PORT PATH` ends with 0 when it is answered 200 there. It runs every few
// seconds in every container, so it is plain JavaScript on a bare socket: a quarter of the time that anything else takes.
import { connect } from "node:net";
import process from "node:process";

const PATIENCE_MS = 5_000;

const [, , port = "", path = ""] = process.argv;
const socket = connect({ host: "127.0.0.1", port: Number(port), timeout: PATIENCE_MS });
socket.once("connect", () => socket.write(`GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`));
socket.once("data", (head) => process.exit(/^HTTP\/1\.\d 200 /.test(head.toString()) ? 0 : 1));
for (const failure of ["timeout", "error", "close"]) socket.once(failure, () => process.exit(1));
