import { render } from "preact";
import { Console } from "./app/console.tsx";

const root = document.getElementById("console");
if (root !== null) render(<Console />, root);
