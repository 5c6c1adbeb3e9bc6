/** The environment is not as it must be. The message is one line that says what is wrong and what to do about it. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/** Why a server could not listen, in one line. */
export function listenError(what: string, host: string, port: number, error: unknown): StartupError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const cause = { cause: error };
  if (code === "EADDRINUSE") {
    return new StartupError(`port ${port} on ${host} is taken: choose another port for ${what} or stop who holds it`, cause);
  }
  if (code === "EACCES") return new StartupError(`port ${port} needs rights that we lack: choose one for ${what} above 1023`, cause);
  const reason = error instanceof Error ? error.message : String(error);
  return new StartupError(`${what} cannot listen on ${host}:${port}: ${reason}`, cause);
}
