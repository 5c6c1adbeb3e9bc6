import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A form whose fields have what the address has. The form stays when the address changes, and so does the focus within it. */
export function useFields(values: Readonly<Record<string, string>>): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    for (const [name, value] of Object.entries(values)) {
      const field = form.current?.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
    }
  }, [JSON.stringify(values)]);
  return form;
}
