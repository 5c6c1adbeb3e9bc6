import { compileExpression } from "./compile-expression.ts";
import { nameOf } from "./compile-from.ts";
import type { Compiled, Scope } from "./scope.ts";
import type { Output } from "./syntax.ts";

export type CompiledOutput = { readonly name: string; readonly value: Compiled };

/** The outputs of a statement for each row; a star is expanded to all columns of its sources. */
export function compileOutputs(outputs: readonly Output[], scope: Scope): readonly CompiledOutput[] {
  return outputs.flatMap((output) => {
    if (output.kind === "value") {
      return [{ name: nameOf(output.value, output.as), value: compileExpression(output.value, scope) }];
    }
    const sources = scope.sources.filter(({ alias }) => output.of === undefined || output.of === alias);
    if (sources.length === 0) throw new Error(`the simulation finds no table ${output.of}`);
    return sources.flatMap(({ columns }) => Array.from(columns, ([name, value]) => ({ name, value })));
  });
}
