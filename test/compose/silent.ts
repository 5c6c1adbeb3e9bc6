import type { Printer } from "../../deploy/demo/printer.ts";

const nothing = (): void => {};

/** For commands that prepare a step. */
export const silent: Printer = { title: nothing, step: nothing, request: nothing, result: nothing, note: nothing };
