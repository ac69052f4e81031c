/** Builds elements without markup: external text is always set as text. */

/** The attributes that elements here have. */
type Attributes = Partial<
  Record<
    | 'class'
    | 'dir'
    | 'id'
    | 'maxlength'
    | 'role'
    | 'tabindex'
    | 'title'
    | 'type'
    | `aria-${string}`
    | `data-${string}`,
    string
  >
>;

/** An element with these attributes; `text` sets its text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { text, ...attributes }: Attributes & { text?: string } = {},
  ...children: readonly Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Node[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Replaces what is in the element. */
export function fill(parent: Element, ...children: readonly Node[]): void {
  parent.textContent = '';
  parent.append(...children);
}

/** Sets the text only if it differs, to avoid a new layout. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
