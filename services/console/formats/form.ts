/** Handles a form in place of the browser; `text` reads a field. */
export function submitting(handle: (text: (name: string) => string, event: SubmitEvent) => void) {
  return (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    handle((name) => {
      const value = data.get(name);
      return typeof value === "string" ? value.trim() : "";
    }, event);
  };
}
