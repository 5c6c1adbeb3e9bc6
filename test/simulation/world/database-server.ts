/** The database server of all processes; it can be down for a while. */
export class DatabaseServer {
  isUp = true;
  readonly #connections = new Set<() => void>();

  /** `end` is called when the server ends the connection. */
  connect(end: () => void): Disposable {
    this.#connections.add(end);
    return { [Symbol.dispose]: () => void this.#connections.delete(end) };
  }

  /** Every open transaction is lost, and connections are refused until `isUp`. */
  goDown(): void {
    this.isUp = false;
    for (const end of Array.from(this.#connections)) end();
  }
}
