/**
 * Lets React work on a page that the browser translates. The browser replaces text nodes, which React may later remove
 * or use as a reference for insertion. A missing node would then cause an error that removes the whole page.
 */
export function allowTranslation(): void {
  const { removeChild, insertBefore } = Node.prototype;
  Node.prototype.removeChild = function <Child extends Node>(this: Node, child: Child): Child {
    return child.parentNode === this ? (removeChild.call(this, child) as Child) : child;
  };
  Node.prototype.insertBefore = function <Child extends Node>(this: Node, node: Child, before: Node | null): Child {
    return insertBefore.call(this, node, before?.parentNode === this ? before : null) as Child;
  };
}
