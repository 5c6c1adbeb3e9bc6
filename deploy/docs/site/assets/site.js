// Adds to the guide what needs a script: one language of each sample at a time, and a button that copies.
"use strict";

const CHOSEN = "pamm-docs-language";

function choose(language) {
  for (const group of document.querySelectorAll(".samples")) {
    const blocks = [...group.querySelectorAll("figure")];
    const shown = blocks.find((block) => block.dataset.language === language) ?? blocks[0];
    for (const block of blocks) block.hidden = block !== shown;
    for (const tab of group.querySelectorAll("[role=tab]")) {
      tab.setAttribute("aria-selected", String(tab.textContent === shown.dataset.language));
    }
  }
}

for (const group of document.querySelectorAll(".samples")) {
  const tabs = document.createElement("div");
  tabs.className = "tabs";
  tabs.setAttribute("role", "tablist");
  for (const block of group.querySelectorAll("figure")) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.setAttribute("role", "tab");
    tab.textContent = block.dataset.language;
    tab.addEventListener("click", () => {
      const before = tab.getBoundingClientRect().top;
      localStorage.setItem(CHOSEN, block.dataset.language);
      choose(block.dataset.language);
      // Samples above may have another height now.
      scrollBy(0, tab.getBoundingClientRect().top - before);
    });
    tabs.append(tab);
  }
  group.prepend(tabs);
  group.classList.add("tabbed");
}
choose(localStorage.getItem(CHOSEN) ?? "curl");

if (navigator.clipboard !== undefined) {
  for (const block of document.querySelectorAll("figure.code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    const show = (text) => () => (button.textContent = text);
    button.addEventListener("click", () => {
      navigator.clipboard
        .writeText(block.querySelector("code").textContent)
        .then(show("Copied"), show("Not permitted"));
      setTimeout(show("Copy"), 1500);
    });
    block.append(button);
  }
}
