import { readFile } from 'node:fs/promises';

/** A recorded response of the site, with its headers and body. */
export interface RecordedResponse {
  path: string;
  /** The bytes of the body, encoded in Base64. */
  body: string;
  headers: Record<string, string>;
}

/** Reads the responses for a baseline from the file that `RESPONSES` names. */
export async function readRecordedResponses() {
  const recorded: RecordedResponse[] = JSON.parse(await readFile(process.env.RESPONSES ?? '', 'utf8'));
  return recorded.map(({ path, body, headers }) => {
    const bytes = Buffer.from(body, 'base64');
    return { path, bytes, headers: { ...headers, 'content-length': String(bytes.length) } };
  });
}
