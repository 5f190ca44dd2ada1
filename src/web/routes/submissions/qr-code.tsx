import { useEffect, useState } from 'react';

interface QrCodeProps {
  text: string;
  label: string;
}

/** Light modules around the code, as its standard demands (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** A text as a QR code. Always dark on light, because many readers require it. */
export function QrCode({ text, label }: QrCodeProps) {
  const [code, setCode] = useState<{ size: number; path: string } | null>(null);

  useEffect(() => {
    let isCurrent = true;
    import('uqr').then(
      ({ encode }) => {
        const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
        if (isCurrent) setCode({ size, path: pathOf(data) });
      },
      // If the code does not load, the link can still be copied.
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);

  return (
    <div className="qr-code">
      {code && (
        <svg viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={label} shapeRendering="crispEdges">
          <path d={code.path} />
        </svg>
      )}
    </div>
  );
}

/** One square for each dark module. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
}
