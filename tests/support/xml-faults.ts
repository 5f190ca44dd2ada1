import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { validateXML } from 'xmllint-wasm';

/** What libxml2 finds wrong with a document: as XML, and where a schema is named (`schemas/….xsd`), by that schema. */
export async function xmlFaults(xml: string, schemaName?: string): Promise<string[]> {
  const schema =
    schemaName === undefined ? undefined : await readFile(join(import.meta.dirname, 'schemas', schemaName), 'utf8');
  const { errors } = await validateXML({
    xml: { fileName: 'answer.xml', contents: xml },
    ...(schema === undefined ? { normalization: 'format' as const } : { schema }),
  });
  return errors.map(({ rawMessage }) => rawMessage);
}
