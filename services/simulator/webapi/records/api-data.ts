import type { WireRecord } from "../reply.ts";

/** Records have a fixed number of cells for values of other programs; the simulator has no such values. */
const CELLS = 16;
const EMPTY_CELL: WireRecord = { AppID: "0", ID: "0", ValueInt: "0", ValueUInt: "0", ValueDouble: "0.00" };

export const EMPTY_API_DATA: readonly WireRecord[] = Array.from({ length: CELLS }, () => EMPTY_CELL);
