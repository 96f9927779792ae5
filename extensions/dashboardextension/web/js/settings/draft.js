// A document as it was read, and the fields of a page that edit it. Nothing that was typed is lost when
// another administrator changes the document meanwhile, and nothing of theirs is replaced unseen.

import { FieldError, put, same } from "./fields.js";

export class Draft {
  /** `fields` edit `doc`. */
  constructor(fields, doc) {
    this.fields = fields;
    this.doc = doc;
    for (const field of fields) field.set(field.of(doc));
  }

  /** Whether a field has another value than the document. */
  changed(field) {
    try {
      return !same(field.get(), field.of(this.doc));
    } catch (error) {
      if (error instanceof FieldError) return true;
      throw error;
    }
  }

  get dirty() {
    return this.fields.some((field) => this.changed(field));
  }

  /** The document with the values of some fields where these were changed. It throws for a value that cannot be. */
  with(fields) {
    let doc = this.doc;
    for (const field of fields) {
      field.clear();
      try {
        const value = field.get();
        if (!same(value, field.of(doc))) doc = put(doc, field.path, same(value, field.empty) ? undefined : value);
      } catch (error) {
        if (error instanceof FieldError) error.path = field.path;
        throw error;
      }
    }
    return doc;
  }

  /** Takes a newer document over. Fields that were changed here keep their value, unless they were saved. */
  rebase(next, saved = []) {
    for (const field of this.fields) {
      const [was, now] = [field.of(this.doc), field.of(next)];
      if (!this.changed(field) || saved.includes(field)) {
        field.clear();
        if (!same(was, now) || saved.includes(field)) field.set(now);
      } else if (!same(was, now)) {
        field.conflict(now, () => {
          field.set(now);
          field.clear();
          field.control.focus();
        });
      }
    }
    this.doc = next;
  }

  /** The field that a path of a fault is about. */
  field(path) {
    return this.fields.find((field) => path === field.path || path.startsWith(`${field.path}.`) || path.startsWith(`${field.path}[`));
  }
}

/** What differs between two documents, as [{ label, was, now }]: values of fields, and entries of lists by their ids. */
export function compare(fields, lists, before, after) {
  const changes = fields.filter((field) => !same(field.of(before), field.of(after)))
    .map((field) => ({ label: field.label, was: field.text(field.of(before)), now: field.text(field.of(after)) }));
  for (const { name, of, id, text } of lists) {
    const [old, now] = [before, after].map((doc) => new Map(of(doc).map((one) => [id(one), one])));
    for (const [key, one] of old) {
      if (!now.has(key)) changes.push({ label: `${name} ${key}`, was: text(one), now: "deleted" });
      else if (text(one) !== text(now.get(key))) changes.push({ label: `${name} ${key}`, was: text(one), now: text(now.get(key)) });
    }
    for (const [key, one] of now) if (!old.has(key)) changes.push({ label: `${name} ${key}`, was: "absent", now: text(one) });
  }
  return changes;
}
