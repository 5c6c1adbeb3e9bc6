import { Gauge } from "prom-client";

export const permitsOpen = new Gauge({
  name: "pamm_permits_open",
  help: "1 while commands may be sent to the trading platform, 0 while its history is being read or operators have to decide.",
});
