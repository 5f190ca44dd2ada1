interface DownloadProps {
  label: string;
  /** The name of the file. */
  name: string;
  type: string;
  content: () => string;
}

/** Offers a text as a download. */
export function Download({ label, name, type, content }: DownloadProps) {
  function save(): void {
    const address = URL.createObjectURL(new Blob([content()], { type: `${type};charset=utf-8` }));
    const link = Object.assign(document.createElement('a'), { href: address, download: name });
    link.click();
    // By then the browser has begun to read it.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  return (
    <button type="button" className="button" data-tone="outline" onClick={save}>
      {label}
    </button>
  );
}
