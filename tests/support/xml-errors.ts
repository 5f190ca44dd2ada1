import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { validateXML } from 'xmllint-wasm';

/**
 * Returns the errors that libxml2 finds in an XML document, including violations of the schema (`schemas/….xsd`), if
 * given.
 */
export async function xmlErrors(xml: string, schemaName?: string): Promise<string[]> {
  const schema =
    schemaName === undefined ? undefined : await readFile(join(import.meta.dirname, 'schemas', schemaName), 'utf8');
  const { errors } = await validateXML({
    xml: { fileName: 'response.xml', contents: xml },
    ...(schema === undefined ? { normalization: 'format' as const } : { schema }),
  });
  return errors.map(({ rawMessage }) => rawMessage);
}
