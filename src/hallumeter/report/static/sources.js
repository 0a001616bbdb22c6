"use strict";
// Where records come from: the page itself, or the server that gave the page. Views know neither, they only ask:
// list(query, { order, start, count, signal }), open(position), beside(record, field), facets(), labels.
hallumeter.sources = (() => {
  const { say } = hallumeter;

  // Everything stands inside the page. What comes back is ready at once, so that typing needs no pause.
  const inline = ({ items, total, entryOf, prepare, orders, facets }) => {
    let known = { key: null, found: [] };
    const select = (query, order) => {
      const key = JSON.stringify([query, order]);
      if (known.key !== key) {
        const compare = orders[order];
        known = { key, found: items.filter(prepare(query)).sort((a, b) => compare(a, b) || a.position - b.position) };
      }
      return known.found;
    };
    return {
      labels: null, pause: 0, total, held: items.length,
      list: async (query, { order, start, count }) => {
        const found = select(query, order);
        return { total: items.length, matching: found.length, start, entries: found.slice(start, start + count).map(entryOf) };
      },
      open: async (position) => items[position],
      beside: async () => items,
      facets: async () => facets(items),
    };
  };

  const ask = async (path, options = {}) => {
    const { body, ...rest } = options;
    const headers = { "X-Hallumeter": "1", ...(body ? { "Content-Type": "application/json" } : {}) };
    let answer;
    try {
      answer = await fetch(path, { ...rest, headers, body: body && JSON.stringify(body), credentials: "same-origin", cache: "no-store" });
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      throw new Error(say("the server cannot be reached"));
    }
    // The server says in one line why it cannot; whoever else answers on this port may say anything.
    if (!answer.ok) {
      const told = answer.headers.get("Content-Type")?.startsWith("text/plain") ? (await answer.text()).trim() : "";
      throw new Error(told && told.length < 500 ? told : say("the server answered {status}", { status: answer.status }));
    }
    return answer.json();
  };

  // What people said of verdicts: true for right, false for wrong.
  const labelsOf = () => {
    const nameOf = (record, claim) => JSON.stringify([record, claim]);
    const given = new Map();
    const all = ask("labels").then((labels) => labels.forEach((label) => given.set(nameOf(label.record_id, label.claim_id), label.is_right)));
    all.catch(() => {}); // whoever waits for them is told
    return {
      get size() { return given.size; },
      of: async (record, claim) => {
        await all;
        return given.get(nameOf(record, claim)) ?? null;
      },
      give: async (record, claim, isRight) => {
        await ask("labels", { method: "POST", body: { record_id: record, claim_id: claim, is_right: isRight } });
        if (isRight === null) given.delete(nameOf(record, claim));
        else given.set(nameOf(record, claim), isRight);
      },
    };
  };

  const BESIDE = 60; // records of one conversation that are read at most
  const server = ({ total, readEntry, readOne }) => {
    const own = {
      labels: labelsOf(), pause: 200, total, held: total,
      list: async (query, { order, start, count, signal }) => {
        const asked = new URLSearchParams({ query: JSON.stringify(query), order, start, count });
        const answer = await ask(`records?${asked}`, { signal });
        return { ...answer, entries: answer.entries.map(readEntry) };
      },
      open: async (position, signal) => readOne(await ask(`records/${position}`, { signal }), position),
      beside: async (record, field) => {
        if (field === undefined || record.fields?.[field] === undefined) return [record];
        const { entries } = await own.list({ search: "", behind: { fields: { [field]: record.fields[field] } } }, { order: "name", start: 0, count: BESIDE });
        return Promise.all(entries.map((entry) => (entry.position === record.position ? record : own.open(entry.position))));
      },
      facets: () => ask("facets"),
    };
    return own;
  };

  return { inline, server };
})();
