import { SCOPE_MEANINGS } from "../identity/keys/scopes.ts";
import { setOf } from "./field.ts";

export const scopeSet = setOf("Scope", "Right of an API key.", SCOPE_MEANINGS);
