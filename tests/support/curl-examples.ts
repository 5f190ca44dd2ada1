/** A command in a document, and its documented output. */
export interface CurlExample {
  /** The command in one line. */
  command: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Whether the command has `-i`, so the output begins with the status line and headers. */
  showsHead: boolean;
  /** Whether the command has `-N`, so the output is an endless stream. */
  isStream: boolean;
  response: string;
}

/**
 * Finds all `$ curl …` in the fenced blocks of a document, in order. @returns the examples of each block that has any.
 */
export function curlExamplesOf(document: string): CurlExample[][] {
  const blocks = [...document.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
  const examples = blocks.map((block) => {
    const [, ...parts] = block.split(/^\$ (?=curl )/m);
    return parts.map((part) => {
      const [, command = '', response = ''] = /^((?:.*\\\n)*.*)\n([\s\S]*)$/.exec(part) ?? [];
      return parse(command.replaceAll(/\\\n\s*/g, ''), response.trim());
    });
  });
  return examples.filter(({ length }) => length > 0);
}

function parse(command: string, response: string): CurlExample {
  const [, ...words] = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  const example: CurlExample = {
    command,
    url: '',
    method: 'GET',
    headers: {},
    body: undefined,
    showsHead: false,
    isStream: false,
    response,
  };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-i') example.showsHead = true;
    else if (word === '-N') example.isStream = true;
    else if (word === '-X') example.method = words.shift() ?? '';
    else if (word === '-d') Object.assign(example, { body: words.shift(), method: 'POST' });
    else if (word === '-H') {
      const [name = '', value = ''] = (words.shift() ?? '').split(/: (.*)/);
      example.headers[name] = value;
    } else if (word.startsWith('http://')) example.url = word;
    else throw new Error(`Unsupported option or argument ${word}: ${command}`);
  }
  return example;
}

/** Converts a documented output to a pattern, in which `…` matches anything. */
export function patternOf(response: string): RegExp {
  const pieces = response.split(/ ?… ?/).map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pieces.join('[\\s\\S]*?')}$`);
}
