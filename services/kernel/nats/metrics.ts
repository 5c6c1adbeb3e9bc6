import { Counter, Gauge } from "prom-client";

const connected = new Gauge({
  name: "pamm_broker_connected",
  help: "1 while this process is connected to the broker.",
});
const reconnects = new Counter({
  name: "pamm_broker_reconnects_total",
  help: "Times that a lost connection to the broker was opened again.",
});

export function showConnected(isConnected: boolean): void {
  connected.set(isConnected ? 1 : 0);
}

export function countReconnect(): void {
  reconnects.inc();
}
