import { Gauge } from "prom-client";

export const permitsOpen = new Gauge({
  name: "pamm_permits_open",
  help: "1 while commands may be sent to the trading platform, 0 while its history is being read or operators have to decide.",
});

export const platformClockDiffers = new Gauge({
  name: "pamm_platform_clock_differs",
  help: "1 while the clock of the trading platform is not in its zone, or differs from that of the database: no deal is read.",
});
